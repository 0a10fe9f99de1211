/** The size of a sheet in Excel. */
export const mostRows = 1_048_576;
export const mostColumns = 16_384;
