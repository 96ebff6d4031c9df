/**
 * Heights of the rows of a long list, of which some are measured and the others are estimates. Finding a row at an
 * offset and the offset of a row takes logarithmic time.
 */

/** Heights of rows, and their sums. */
export class Heights {
  /**
   * @param {ArrayLike<number>} heights
   */
  constructor(heights) {
    this.count = heights.length;
    this.heights = Float64Array.from(heights);
    // A binary indexed tree: `sums[i]` is the sum of the last `i & -i` rows up to row `i`.
    this.sums = new Float64Array(this.count + 1);
    for (let i = 1; i <= this.count; i += 1) {
      this.sums[i] += this.heights[i - 1];
      const above = i + (i & -i);
      if (above <= this.count) this.sums[above] += this.sums[i];
    }
    this.top2 = 1;
    while (this.top2 * 2 <= this.count) this.top2 *= 2;
  }

  /** Returns the height of a row. */
  get(index) {
    return this.heights[index];
  }

  /** Changes the height of a row, and returns by how much. */
  set(index, height) {
    const change = height - this.heights[index];
    if (change === 0) return 0;
    this.heights[index] = height;
    for (let i = index + 1; i <= this.count; i += i & -i) this.sums[i] += change;
    return change;
  }

  /** Returns the offset of the top of a row from the top of the list. For `count` it is the height of the list. */
  top(index) {
    let sum = 0;
    for (let i = Math.min(index, this.count); i > 0; i -= i & -i) sum += this.sums[i];
    return sum;
  }

  /** Returns the height of the whole list. */
  get total() {
    return this.top(this.count);
  }

  /** Returns the row at an offset from the top of the list. Beyond both ends it is the first or the last row. */
  at(y) {
    let index = 0;
    let rest = y;
    for (let step = this.top2; step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.count && this.sums[next] <= rest) {
        index = next;
        rest -= this.sums[next];
      }
    }
    return Math.max(0, Math.min(index, this.count - 1));
  }
}
