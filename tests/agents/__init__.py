"""What `relay agent install` writes, and takes away again."""
