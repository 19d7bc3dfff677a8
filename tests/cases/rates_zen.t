`skidscan rates` names what AMD's Zen counts by events that no rate uses.

  $ . "$CASES/common.sh"
  $ needs x86-64
  $ printf '%s,,%s,1,100.00,,\n' 3 l2_cache_req_stat.ls_rd_blk_c 4 page-faults > counts
  $ skidscan rates counts | grep '^  no rate '
    no rate  3  l2_cache_req_stat.ls_rd_blk_c: r864 of zen5
    no rate  4  page-faults
  $ skidscan rates counts --format json | pick events.0.description events.1.description
  events.0.description = "r864 of zen5"
  events.1.description = null
