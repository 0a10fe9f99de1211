import { gateway } from './carriers/gateway-rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(gateway);
