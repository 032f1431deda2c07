// The driver of PostgreSQL, for the folders that connect to a server: graphs over a database
// (virtual/) and the log of high availability (high-availability/).

export { default } from 'pg';
