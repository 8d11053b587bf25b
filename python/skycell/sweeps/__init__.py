"""A factorial study of one's own: from one file to runs, responses and a table of them."""
