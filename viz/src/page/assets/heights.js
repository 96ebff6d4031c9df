/**
 * Heights of the rows of a long list: some measured, the others guessed. Finding a row by its place and the place of a row
 * takes logarithmic time.
 */

/**
 * Heights of rows, and their sums.
 */
export class Heights {
  /**
   * @param {ArrayLike<number>} heights
   */
  constructor(heights) {
    this.count = heights.length;
    this.heights = Float64Array.from(heights);
    // A binary indexed tree: the sum at `i` is of as many rows up to `i` as the lowest bit of `i` says.
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

  /** Returns how far the top of a row is from the top of the list; of `count`, the height of the list. */
  top(index) {
    let sum = 0;
    for (let i = Math.min(index, this.count); i > 0; i -= i & -i) sum += this.sums[i];
    return sum;
  }

  /** Returns the height of the whole list. */
  get total() {
    return this.top(this.count);
  }

  /** Returns the row at a distance from the top of the list: the first or the last one if there is none. */
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
