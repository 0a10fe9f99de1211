import { expect, it } from 'vitest';
import { hasPassword, urlProblem, withoutPassword } from '../../../src/cli/config/database-url.js';

it.each([
  ['postgres://owner:s3cret@db:5432/urtuu', 'postgres://owner@db:5432/urtuu'],
  ['postgres://owner:p@ss:w@db/urtuu', 'postgres://owner@db/urtuu'],
  ['postgres://owner@server:s3cret@db/urtuu', 'postgres://owner@server@db/urtuu'],
  ['postgres://owner@db/urtuu?SSLpassw%6Frd=s3cret&PASSWORD=x', 'postgres://owner@db/urtuu'],
  ['postgres://owner@db/urtuu?password=s3cret', 'postgres://owner@db/urtuu'],
  ['postgres://owner@db/urtuu?password=s3cret&sslmode=require', 'postgres://owner@db/urtuu?sslmode=require'],
  ['postgres://owner@db/urtuu?sslmode=require&password=s3cret', 'postgres://owner@db/urtuu?sslmode=require'],
  ['postgres:///urtuu?host=/run&password=s3cret&user=owner', 'postgres:///urtuu?host=/run&user=owner'],
  [
    'postgres://owner@db/urtuu?password=one&sslmode=require&password=two',
    'postgres://owner@db/urtuu?sslmode=require',
  ],
  ['postgres://owner@db/urtuu?password=one&password=two', 'postgres://owner@db/urtuu'],
  ['postgres://owner:one@db/urtuu?password=two', 'postgres://owner@db/urtuu'],
  ['postgres://db/urtuu?user=owner;password=s3cret', 'postgres://db/urtuu'],
  ['postgres://db/urtuu?user=owner&amp;password=s3cret', 'postgres://db/urtuu?user=owner'],
  ['postgres://db/urtuu?user=owner%3Bpassword%3Ds3cret', 'postgres://db/urtuu'],
  ['postgres://db/urtuu?user=owner%3As3cret', 'postgres://db/urtuu'],
  ['postgres://owner@db/urtuu;password=s3cret', 'postgres://owner@db/urtuu'],
  ['postgres://owner@db/urtuu&password=s3cret', 'postgres://owner@db/urtuu'],
  ['postgres://owner%3As3cret@db/urtuu', 'postgres://owner@db/urtuu'],
])('shows %s as an address that connects as soon as the password is given elsewhere', (url, shown) => {
  expect([hasPassword(url), withoutPassword(url)]).toEqual([true, shown]);
});

it.each([
  'postgres://owner@db:5432/urtuu?sslmode=require',
  'postgres:///urtuu?',
  'postgres://db:5432/urtuu?user=owner@server',
])('shows %s, which has none, as it is', (url) => {
  expect([hasPassword(url), withoutPassword(url)]).toEqual([false, url]);
});

it.each([
  'postgres://owner:p@ss/word@db/urtuu',
  'postgres://owner:12/34@db/urtuu',
  'postgres://owner:12?34@db/urtuu',
  'postgres://owner:12#34@db/urtuu',
  'postgres://owner:12?a=b@db/urtuu',
  'postgres://owner:pass/word@db/urtuu',
  'postgres://owner:password/urtuu',
  'postgres://owner@db/urtuu?password=12#34',
  'postgres://owner:pass\tword@db/urtuu',
  'postgres://db1:5432,db2:5432/urtuu',
  'postgres://owner@db1,db2/urtuu',
  'owner@db/urtuu',
])('the address %s, of which the driver would read another host or password, is refused', (url) => {
  expect(urlProblem(url)).not.toBeNull();
});

it.each([
  'postgres://owner:p@ss:word@db/urtuu',
  'postgres://owner:p%40ss%2Fword@[::1]:5432/urtuu?sslmode=require',
  'postgres://owner@%2Frun%2Fpostgresql/urtuu',
  'postgres:///urtuu?host=/run&user=owner@server&password=p@ss&sslrootcert=/etc/a@b.pem',
  'postgresql://owner@db',
])('the address %s is taken', (url) => {
  expect(urlProblem(url)).toBeNull();
});
