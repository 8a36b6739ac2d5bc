"""What a program prints and reads."""
