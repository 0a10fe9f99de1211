-- While a move fills the database: its place and the target that the folder names; nobody serves it meanwhile.
ALTER TABLE installation ADD COLUMN filling text;
