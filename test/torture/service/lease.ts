/** Milliseconds. Shorter than the service has them, so that a paused process is given up soon. */
export const leaseMs = 2_500;

/** The variable for others. */
export const leaseVariable = 'URTUU_TORTURE_LEASE_MS';
