// The end of the main script of the executable, after dist/cli/start.cjs: the other bundles are assets.
const { basename, dirname } = require('node:path');
const { getRawAsset } = require('node:sea');

exports.start(process, require, {
  folder: '/cli',
  read: (file) => Buffer.from(getRawAsset(`${basename(dirname(file))}/${basename(file)}`)),
});
