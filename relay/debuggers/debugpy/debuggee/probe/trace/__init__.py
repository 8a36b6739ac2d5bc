"""One traced call: its lines with what each changed, and the calls that go by until one is meant."""
