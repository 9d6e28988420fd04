"""Labs: coursework that replaces a file of weft by the student's, its tests, and its grade."""
