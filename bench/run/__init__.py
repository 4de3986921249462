"""Runs of builds: inputs, processes, their memory and instructions, and the profiles that they leave."""
