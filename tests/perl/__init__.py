"""The Perl debug adapter: with real perl processes, through DAP alone."""
