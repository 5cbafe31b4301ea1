"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    name="sonic-vs",
    image="docker-sonic-vs:latest",
    binds={"config_db.json": "/etc/sonic/config_db.json", "frr.conf": "/etc/frr/frr.conf"},
    note="files are bound as they are: fill in ${…} first; CLI by `docker exec -it NODE vtysh`",
)
