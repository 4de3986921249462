"""Tables: one small file each, which declares its columns and the figures that they are computed from."""
