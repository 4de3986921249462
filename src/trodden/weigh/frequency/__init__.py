"""The frequency of every edge, from nesting, branch probabilities or measured counts (BL94 §5, WL94 §4)."""
