#!/bin/sh
# Has commits of the primary wait for the standby, once that is there.
set -eu
until [ "$(psql "$PRIMARY" -Atc "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" != 0 ]; do
    sleep 1
done
psql "$PRIMARY" -c "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (*)'" -c 'SELECT pg_reload_conf()'
