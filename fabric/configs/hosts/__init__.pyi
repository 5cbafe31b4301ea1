from .files import host_files as host_files
