#!/bin/sh
# Run once by the image of PostgreSQL when it makes the primary: lets the standby replicate.
echo "host replication all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
