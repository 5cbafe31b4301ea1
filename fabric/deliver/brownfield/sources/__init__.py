"""What an import reads beside configs: topology files, workbooks, NetBox and Nautobot."""
