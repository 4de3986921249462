"""Many profiles become one."""
