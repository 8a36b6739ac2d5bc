"""The session commands of `relay`, as a shell would use them."""
