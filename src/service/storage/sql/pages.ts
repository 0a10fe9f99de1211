/** The rows of a project. */
export const ofProject = 'project = (SELECT seq FROM :s.projects WHERE id = :projectId)';
