import { codecs } from './carriers/codec-rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(codecs);
