"""One module per format of chat that can be imported, each turning a file into messages."""
