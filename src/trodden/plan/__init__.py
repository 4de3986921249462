"""Where do probes go, and what do they do?"""
