import { describe, expect, it } from 'vitest';
import { plan, planned, refusal } from '../plans.js';

const bytes = (begin: string) => Buffer.concat([Buffer.from(begin, 'latin1'), Buffer.alloc(2_000, 0x5a)]);
const compound = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const wide = (text: string) => Buffer.from(text, 'utf16le').toString('latin1');

describe('a file that is no list is named', () => {
  it.each([
    ['\x1f\x8b\x08', 'is a gzip archive'],
    ['BZh91AY&SY', 'is a bzip2 archive'],
    ['\xfd7zXZ\0', 'is an xz archive'],
    ['\x28\xb5\x2f\xfd', 'is a Zstandard archive'],
    ['7z\xbc\xaf\x27\x1c', 'is a 7-Zip archive'],
    ['Rar!\x1a\x07', 'is a RAR archive'],
    ['PK\x05\x06', 'is an empty zip archive'],
    ['%PDF-1.7\n', 'is a PDF'],
    ['{\\rtf1', 'is a rich text document'],
    ['\x89PNG\r\n\x1a\n', 'is an image'],
    ['\xff\xd8\xff\xe0', 'is an image'],
    ['GIF89a', 'is an image'],
    ['RIFF\x01\x02\x03\x04WEBP', 'is an image'],
    ['\0\0\0\x18ftypheic', 'is an image'],
    ['SQLite format 3\0', 'is an SQLite database'],
    ['\0\x01\0\0Standard ACE DB\0', 'is an Access database'],
    ['\x03\x7e\x0b\x1c\x02\0\0\0\x61\0\x1f\0\0\0', 'is a dBASE table (.dbf)'],
    ['\x30\x1a\x0b\x1c\x02\0\0\0\x61\x0a\x0d\0\0\0', 'is a dBASE table (.dbf)'],
    ['\x83\x7e\x0b\x1c\x02\0\0\0\x61\0\x1f\0\0\0', 'is a dBASE table (.dbf)'],
    ['-- MySQL dump 10.13', 'is an SQL dump'],
    ['/*M!999999\\- enable the sandbox mode */', 'is an SQL dump'],
    ['--\n-- PostgreSQL database dump', 'is an SQL dump'],
    ['INSERT INTO `people` VALUES', 'is an SQL dump'],
    ['BEGIN:VCARD\r\nVERSION:3.0', 'is a file of vCards (.vcf)'],
    ['[{"phone": "99112233"}', 'is JSON'],
    ['\xef\xbb\xbf\xef\xbb\xbf<!DOCTYPE html>', 'is a web page (HTML)'],
    ['\x07\x01\x02\xff\xfe\x03'.repeat(100), 'is neither text nor a workbook'],
    ['\0'.repeat(3_000), 'is neither text nor a workbook'],
    ['\r\n<html xmlns:o="urn:schemas-microsoft-com:office:office">', 'is a web page (HTML)'],
    ['<!DOCTYPE html>', 'is a web page (HTML)'],
    ['<table border=1>', 'is a web page (HTML)'],
    [
      '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">',
      'is an XML spreadsheet of 2003',
    ],
    ['<?xml version="1.0"?>\n<office:document xmlns:office="x">', 'is an OpenDocument sheet'],
    [`${compound}${wide('Workbook')}`, 'is an Excel workbook of 97 to 2003 (.xls)'],
    [`${compound}${wide('WordDocument')}`, 'is a Word document'],
    [`${compound}${'x'.repeat(70_000)}${wide('EncryptedPackage')}`, 'is encrypted'],
    ['PK\x03\x04', 'is cut off: its end is missing'],
  ])('%j', async (begin, what) => {
    for (const blockBytes of [undefined, 100]) {
      const error = await refusal(bytes(begin), { source: 'list.x', ...(blockBytes ? { blockBytes } : {}) });
      expect(error).toMatchObject({ name: 'InputError', kind: 'file', hint: expect.stringMatching(/\w/) });
      expect((error as Error).message.startsWith(`list.x ${what}`)).toBe(true);
    }
  });

  it.each([
    ['folder/~$list.xlsx', 'list.xlsx'],
    ['.~lock.list.xlsx#', 'list.xlsx'],
  ])('%s is a lock file, whatever is in it', async (source, list) => {
    expect(await refusal('phone\n99112233\n', { source })).toMatchObject({
      kind: 'file',
      message: `${source} is a lock file`,
      hint: `Name the list itself: ${list}.`,
    });
  });

  it('and a list that begins like one is none of them', async () => {
    for (const name of [
      'PK',
      'BZh',
      '%PDF',
      'GIF',
      'RIFF',
      '<b>',
      'Rar',
      '7z',
      '<?xml',
      '0 1',
      '-- a',
      'INSERT',
      '{"a"}',
    ]) {
      expect(planned(await plan(`phone,${name}\n99112233,x\n`)).meta.columns).toEqual(['phone', name]);
      expect(planned(await plan(`${name},phone\nx,99112233\n`)).meta.columns).toEqual([name, 'phone']);
    }
  });
});
