"""What reading any input file needs: values and their units, forms, faults in the file's words."""
