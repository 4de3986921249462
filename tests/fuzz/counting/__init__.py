"""Random programs that count themselves, built and run in many ways."""
