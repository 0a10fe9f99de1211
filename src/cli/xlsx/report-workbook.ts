/** Rows of a sheet below its header. */
export const mostSheetRows = 1_048_575;

/** Whether a file is to be a workbook, by its name. */
export const isWorkbookName = (name: string) => /\.xlsx$/i.test(name);

/** A hidden name in the sheet that sums up the others, by which a reader knows it. */
export const summaryMark = 'urtuu_summary';
