import { expect, it } from 'vitest';
import { hasPassword, withoutPassword } from '../../../src/cli/config/database-url.js';

it.each([
  ['postgres://owner:s3cret@db:5432/urtuu', 'postgres://owner@db:5432/urtuu'],
  ['postgres://owner:p@ss/word@db/urtuu', 'postgres://owner@db/urtuu'],
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
])('shows %s as an address that connects as soon as the password is given elsewhere', (url, shown) => {
  expect([hasPassword(url), withoutPassword(url)]).toEqual([true, shown]);
});

it.each(['postgres://owner@db:5432/urtuu?sslmode=require', 'postgres:///urtuu?'])(
  'shows %s, which has none, as it is',
  (url) => {
    expect([hasPassword(url), withoutPassword(url)]).toEqual([false, url]);
  },
);
