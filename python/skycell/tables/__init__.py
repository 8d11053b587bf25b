"""Tables of results: put together once, whether a page, a terminal or LaTeX shows them."""
