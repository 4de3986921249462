"""Control-flow graphs and the analyses of them."""
