"""A second GEODE, slow and literal, written from the record contract alone, to compare the product with."""
