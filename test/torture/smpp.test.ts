import { smpp } from './carriers/smpp-rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(smpp);
