"""An intent made from a network that is there: its configs, workbooks, topology files and inventories."""
