/** Maximum rows of a sheet below its header. */
export const mostSheetRows = 1_048_575;

/** Whether a file should be a workbook, by its name. */
export const isWorkbookName = (name: string) => /\.xlsx$/i.test(name);

/** A hidden name in the summary sheet, by which a reader recognizes it. */
export const summaryMark = 'urtuu_summary';
