#!/bin/sh
# As power_cut.sh, under the policy raid0.
#: drive a size=20M log=yes
#: drive b size=20M log=yes logical_block_size=4096
#: drive c size=24M log=yes
#: drive m size=1M log=yes
#: modules nvme
#: after power_cut.py
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/marked.sh"

it "promises while it records under raid0" marked raid0
finish
