"""The network that a file stands for: nodes, links and VCs by name, quantities as written."""
