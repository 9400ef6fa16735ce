"""Where files are: below folders, in datasets that were saved, on servers; and which of them are wanted."""
