#!/bin/sh
# s, servers of group gpu (node): RoCE settings that match the leaf switches.
# Run as root at every boot, once drivers and network are up: sh roce.sh [--dry-run]
# Idempotent. --dry-run prints the commands only.
set -eu

dry=
case "${1:-}" in
  "") ;;
  --dry-run) dry=1 ;;
  *) echo "usage: $0 [--dry-run]" >&2; exit 2 ;;
esac
if [ -z "$dry" ] && [ "$(id -u)" -ne 0 ]; then
  echo "$0: must be root" >&2
  exit 1
fi
note() { echo "$0: $*" >&2; }

# A required command: stops on failure.
run() {
  if [ -n "$dry" ]; then echo "$*"; else "$@"; fi
}

# An optional command: not every driver supports it.
try() {
  if [ -n "$dry" ]; then echo "$*"; else "$@" >/dev/null 2>&1 || note "no effect: $*"; fi
}

# put VALUE FILE: writes a kernel setting, if the file exists.
put() {
  if [ -n "$dry" ]; then
    echo "echo $1 > $2"
  elif [ ! -e "$2" ]; then
    note "not there: $2"
  elif [ "$(cat "$2" 2>/dev/null)" != "$1" ]; then
    echo "$1" > "$2" || note "refused: $1 > $2"
  fi
}

# RDMA devices of an interface.
rdma_of() {
  for device in "/sys/class/net/$1/device/infiniband/"*; do
    if [ -e "$device" ]; then echo "${device##*/}"; elif [ -n "$dry" ]; then echo "RDMA-OF-$1"; fi
  done
}

# PCI address of an interface.
pci_of() {
  if [ -e "/sys/class/net/$1/device" ]; then basename "$(readlink -f "/sys/class/net/$1/device")"; else echo "PCI-OF-$1"; fi
}

there() {
  if [ -n "$dry" ] || [ -e "/sys/class/net/$1" ]; then return 0; fi
  note "$1 is not there"
  return 1
}

if command -v mlnx_qos >/dev/null 2>&1 && ! command -v dcb >/dev/null 2>&1; then tool=mlnx_qos; else tool=dcb; fi

# Hosts with several ports: each port answers and sends ARP for its own address only. Loose reverse-path filtering: packets
# may arrive on a port that the main table would not use. The larger value of all/ and the port's rp_filter applies.
for nic in compute1 compute2; do
  there "$nic" || continue
  run sysctl -q -w "net/ipv4/conf/$nic/arp_ignore=1"
  run sysctl -q -w "net/ipv4/conf/$nic/arp_announce=2"
  run sysctl -q -w "net/ipv4/conf/$nic/rp_filter=2"
done

# --- fabric backend: RoCE is DSCP 24, priority 4; CNP is DSCP 46, priority 7
for nic in compute1 compute2; do
  there "$nic" || continue
  run ip link set dev "$nic" mtu 9000
  # Link-level PAUSE and PFC are mutually exclusive.
  try ethtool -A "$nic" autoneg off rx off tx off
  # Host-controlled DCBX: settings from the leaf over LLDP are ignored. Trust DSCP, PFC on one priority only,
  # transmit weights equal to those of the leaf.
  if [ "$tool" = dcb ]; then
    try dcb dcbx set dev "$nic" host ieee
    try dcb apptrust set dev "$nic" order dscp
    run dcb app replace dev "$nic" dscp-prio 24:4 32:0 33:0 34:0 35:0 36:0 37:0 38:0 39:0 46:7 56:0 57:0 58:0 59:0 60:0 61:0 62:0 63:0
    run dcb pfc set dev "$nic" prio-pfc all:off 4:on
    run dcb ets set dev "$nic" prio-tc all:0 4:4 7:7 tc-tsa all:strict 0:ets 4:ets tc-bw all:0 0:30 4:70
  else
    try mlnx_qos -i "$nic" --dcbx os
    run mlnx_qos -i "$nic" --trust dscp
    run mlnx_qos -i "$nic" --dscp2prio set,24,4 --dscp2prio set,32,0 --dscp2prio set,33,0 --dscp2prio set,34,0 --dscp2prio set,35,0 --dscp2prio set,36,0 --dscp2prio set,37,0 --dscp2prio set,38,0 --dscp2prio set,39,0 --dscp2prio set,46,7 --dscp2prio set,56,0 --dscp2prio set,57,0 --dscp2prio set,58,0 --dscp2prio set,59,0 --dscp2prio set,60,0 --dscp2prio set,61,0 --dscp2prio set,62,0 --dscp2prio set,63,0
    run mlnx_qos -i "$nic" --pfc 0,0,0,0,1,0,0,0
    run mlnx_qos -i "$nic" --prio_tc 0,0,0,0,4,0,0,7 --tsa ets,strict,strict,strict,ets,strict,strict,strict --tcbw 30,0,0,0,70,0,0,0
  fi
  # ECN: this end slows down (rp) and tells the sender of marks (np) for the lossless priority. mlx5 with MLNX_OFED has
  # these files; the driver in the kernel has it on, with the CNP's marking in debugfs.
  if [ -n "$dry" ] || [ -d "/sys/class/net/$nic/ecn" ]; then
    put 1 "/sys/class/net/$nic/ecn/roce_rp/enable/4"
    put 1 "/sys/class/net/$nic/ecn/roce_np/enable/4"
    put 46 "/sys/class/net/$nic/ecn/roce_np/cnp_dscp"
    put 7 "/sys/class/net/$nic/ecn/roce_np/cnp_802p_prio"
  else
    put 46 "/sys/kernel/debug/mlx5/$(pci_of "$nic")/cc_params/np_cnp_dscp"
    put 7 "/sys/kernel/debug/mlx5/$(pci_of "$nic")/cc_params/np_cnp_prio"
  fi
  # Default of rdma_cm connections (cma_roce_mode, cma_roce_tos): RoCE v2, DSCP 24 with ECT, 24 << 2 | 2.
  for rdma in $(rdma_of "$nic"); do
    try mkdir -p "/sys/kernel/config/rdma_cm/$rdma"
    put "RoCE v2" "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_mode"
    put 98 "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_tos"
    # MLNX_OFED: traffic class of all other RDMA programs, overrides their own.
    if [ -n "$dry" ] || [ -e "/sys/class/infiniband/$rdma/tc/1/traffic_class" ]; then
      put 98 "/sys/class/infiniband/$rdma/tc/1/traffic_class"
    fi
  done
done
