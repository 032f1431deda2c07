#!/bin/sh
# Starts the standby; the first time, it is copied from the primary.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    until pg_basebackup --dbname="$PRIMARY" --pgdata="$PGDATA" --write-recovery-conf --wal-method=stream --checkpoint=fast; do
        rm -rf "${PGDATA:?}"/*
        sleep 1
    done
    chmod 700 "$PGDATA"
fi
exec postgres
