import { cluster } from './cluster/rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(cluster);
