"""Many calls: finding them under a folder, and an index of what each is."""
