"""The command line as its users meet it: arguments in, files, sentences and a status out."""
