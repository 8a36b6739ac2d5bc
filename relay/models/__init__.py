"""What travels: the requests and resources of the contract, one file a noun."""
