/** The first project of every service. */
export const defaultProject = { id: '00000000-0000-7000-8000-000000000001', name: 'Default' };

/** Credits of a new project. */
export const openingBalance = 100_000;
