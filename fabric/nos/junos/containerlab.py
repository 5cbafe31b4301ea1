"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    name="juniper_cjunosevolved",
    image="cjunosevolved:latest",
    own=r"et-0/0/([0-9]+)",
    endpoint="et-0/0/{0}",
    startup="juniper.conf",
    first_eth=4,
    zero=0,
    note="without FXP0ADDRESS as the address of re0:mgmt-0 in the file: CLI by `docker exec -it NODE cli`, no SSH",
)
