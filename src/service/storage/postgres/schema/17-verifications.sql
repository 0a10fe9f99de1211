-- Verifications of the last day are counted.
CREATE INDEX verifications_project ON verifications (project, created_at);
