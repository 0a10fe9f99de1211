import { describeGroup } from './describe-group.js';
import { network } from './network/rows.js';

describeGroup(network);
