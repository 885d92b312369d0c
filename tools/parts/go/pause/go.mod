module jsonplane.invalid/pause

go 1.21
