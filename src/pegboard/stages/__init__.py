"""What the pipeline asks for on the way of a call, one stage a file."""
